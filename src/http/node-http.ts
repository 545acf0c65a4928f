/**
 * What a start needs of `node:http`. A separate file: an import reads every export of that module, and one of them loads all of node's
 * fetch, which takes a tenth of a start. Other files import it as usual, since they are loaded later.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')
