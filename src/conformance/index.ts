/** Judges answers by the contract: what platform-api.md says of them, and what was decided where it says nothing. */
export { answeredIn } from './answered.js'
export { judge } from './judge.js'
