/** Whether this Node is new enough. It imports nothing, because everything else may be more than an older Node can load. */
const { node } = process.versions
const [major = 0, minor = 0] = node.split('.').map(Number)
const isTooOld = major < 22 || major === 23 || (major === 22 && minor < 15)

/** What to say on an older Node. package.json has the same versions under "engines". */
export const nodeProblem: string | undefined = isTooOld
  ? `Standin needs Node 22.15, 24 or newer, and this is Node ${node}. Install a newer one: https://nodejs.org.`
  : undefined
