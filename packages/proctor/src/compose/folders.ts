/** What a command makes on the host, without the engine. */
export { makeFolder } from '../system/make-folder.ts';
