/** What `npm test` leaves out, and CI runs: stories that start many processes, install packages or drive a browser for long. */
export const leftOut = {
  'test/package/': 'the packed package in the hands of test runners, and the commands on the pages of docs/',
  'test/adversary/{apps,crash,model,report,runs,session}.test.ts': 'whole runs of the adversary',
  'test/cli/accept.test.ts': 'branches of Git that accept recordings',
  'test/state/{killed,processes,replicas}.test.ts': 'replicas that are killed',
  'test/together/runners.test.ts': 'the tests of each runner, alone and below exec',
  'test/tables/{chats,life}.test.ts': "the tables' starts",
  'test/mcp/conformance.test.ts': 'the conformance suite of MCP',
  'test/dashboard/{activity,answers,people,strip}.test.ts': "the dashboard's long stories",
}

/**
 * The files that a key stands for.
 * @param {string} key
 * @returns {string[]}
 */
export const filesOf = key => {
  const [, before, names, after] = /^(.*)\{(.*)\}(.*)$/.exec(key) ?? []
  return names === undefined ? [key] : names.split(',').map(name => `${before}${name}${after}`)
}
