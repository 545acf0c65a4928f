/** Names places as a person would from where the command was started. */
import path from 'node:path'

export const near = (place: string) => path.relative(process.cwd(), place) || place
