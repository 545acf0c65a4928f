/** Throws on import if Node is too old. Each entry point of the package imports it before everything else. */
import { nodeProblem } from './node-version.js'

if (nodeProblem !== undefined) throw new Error(nodeProblem)
