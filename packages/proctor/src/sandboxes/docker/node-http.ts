import process from 'node:process';

/** node:http, got in the way of CommonJS: an `import` of it reads every one of its exports, and one of them loads all of fetch, 40 ms of each start. */
export const { Agent, request } = process.getBuiltinModule('node:http');
