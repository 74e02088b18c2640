process.exit(4);
