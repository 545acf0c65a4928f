/** The version of this package. */
import { createRequire } from 'node:module'

// The file is one folder up both from src/ and from dist/.
const manifest = createRequire(import.meta.url)('../package.json') as { version: string }

export const version = manifest.version
