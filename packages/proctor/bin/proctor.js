#!/usr/bin/env node
// Any Node can read this file: it says in one sentence what is missing, or starts the built program (unbuilt: the source).
'use strict';
var major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write('proctor needs Node 24 or newer, and this is Node ' + process.versions.node + ': install Node 24 and run it again.\n');
  process.exit(69);
}
require('node:module').enableCompileCache();
var path = require('node:path');
var built = path.join(__dirname, '..', 'dist', 'main.js');
var main = require(require('node:fs').existsSync(built) ? built : path.join(__dirname, '..', 'src', 'cli', 'main.ts'));
main.main(process.argv.slice(2));
