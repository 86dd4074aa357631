// Runs the rest of its command line under Node 24: the one that is running, else the one installed with the workspace.
// Plain old JavaScript, because any Node may read it. First argument: a file of this workspace, or the name of an installed program.
var fs = require('fs');
var path = require('path');
var child = require('child_process');

var root = path.join(__dirname, '..');
var wanted = process.argv[2];
var args = process.argv.slice(3);

function major(version) {
  return Number(version.replace(/^v/, '').split('.')[0]);
}

function installed() {
  return path.join(root, 'node_modules', 'node-' + process.platform + '-' + process.arch, 'bin', 'node');
}

function ready() {
  return fs.existsSync(path.join(root, 'node_modules', '.package-lock.json'));
}

if (!ready()) {
  process.stderr.write('installing the workspace (npm ci) ...\n');
  var install = child.spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (install.status !== 0) {
    process.stderr.write('npm ci failed: see its message above, then run the same command again.\n');
    process.exit(69);
  }
}

var node = major(process.version) >= 24 ? process.execPath : installed();
if (!fs.existsSync(node)) {
  process.stderr.write(
    'Node 24 or newer is needed, this is ' + process.version + ' and no prebuilt one fits ' + process.platform + '-' + process.arch +
    ': install Node 24 and run the same command again.\n',
  );
  process.exit(69);
}

var file = /[/.]/.test(wanted) ? path.join(root, wanted) : path.join(root, 'node_modules', '.bin', wanted);
var env = Object.assign({}, process.env, { PATH: path.dirname(node) + path.delimiter + (process.env.PATH || '') });
var running = child.spawn(node, [file].concat(args), { stdio: 'inherit', env: env });
// The terminal sends Ctrl-C to the child too: this wrapper only has to outlive it.
process.on('SIGINT', function () {});
process.on('SIGTERM', function () { running.kill('SIGTERM'); });
running.on('error', function (error) {
  process.stderr.write(String(error.message) + '\n');
  process.exit(69);
});
running.on('exit', function (code, signal) {
  process.exit(signal ? 128 + (require('os').constants.signals[signal] || 0) : code);
});
