/** What `npm test` leaves out, and CI runs: stories that start many processes, install packages or drive a browser for long. What takes longest comes first. */
export const leftOut = {
  'test/together/{runners,together}.test.ts': 'the tests of each runner, alone and below exec',
  'test/package/': 'the packed package in the hands of test runners, and the commands on the pages of docs/',
  'test/adversary/{session,apps,runs,model,crash,report}.test.ts': 'whole runs of the adversary',
  'test/tables/': 'tables',
  'test/state/{replicas,killed,processes}.test.ts': 'replicas that are killed',
  'test/dashboard/{activity,foreign-pages,connect,answers,people,strip}.test.ts': "the dashboard's long stories",
  'test/mcp/conformance.test.ts': 'the conformance suite of MCP',
  'test/expressions.test.ts': 'the time that regular expressions take',
  'test/cli/accept.test.ts': 'branches of Git that accept recordings',
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
