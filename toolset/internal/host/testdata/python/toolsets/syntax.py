x = 1
class :
