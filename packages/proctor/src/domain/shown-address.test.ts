import { expect, test } from 'vitest';
import { shownAddress } from './shown-address.ts';

test.each([
  ['http://proxy.corp:3128', 'http://proxy.corp:3128'],
  ['unix:///run/user/a@b/docker.sock', 'unix:///run/user/a@b/docker.sock'],
  ['http://jo:secret@proxy.corp:3128/', 'http://***@proxy.corp:3128/'],
  ['jo:secret@proxy.corp:3128', '***@proxy.corp:3128'],
  ['http://jo:se@cret@proxy.corp', 'http://***@proxy.corp'],
  ['tcp://jo:secret@engine:2375', 'tcp://***@engine:2375'],
  ['ssh://jo@engine', 'ssh://jo@engine'],
  ['ssh://jo:secret@engine:22', 'ssh://jo:***@engine:22'],
])('%s is printed as %s', (address, shown) => {
  expect(shownAddress(address)).toBe(shown);
});
