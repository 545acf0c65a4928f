/** Recorded chat completions in the form that was asked for: whole, as a stream, or as text for people. */
export { streamOf } from './streamed.js'
export { assembledText, assembleText } from './text.js'
export { withUsage } from './usage.js'
export { wholeOf } from './whole.js'
