GREETING = "shared"
