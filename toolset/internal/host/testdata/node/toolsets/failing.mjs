function load() {
  throw new Error('cannot start');
}
load();
