/** Before the tests: builds dist/, so that those which start the real command never meet yesterday's, and makes a folder that is removed after them. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { build } from 'rolldown'
import config from '../rolldown.config.js'

export default async function setup() {
  const folder = mkdtempSync(path.join(tmpdir(), 'standin-tests-'))
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o711)
  // What workers share among their files (browsers, databases) ends with the worker, and leaves its folders behind.
  process.env.TMPDIR = folder
  // CI builds once, and runs several sets of tests at the same time.
  if (process.env.NO_BUILD !== '1') await build(config)
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
}
