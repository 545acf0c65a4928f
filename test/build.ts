/** Global setup: builds dist/, so that tests of the real command never run an old build, and creates a folder that is removed after the tests. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { build } from 'rolldown'
import config from '../rolldown.config.js'

export default async function setup() {
  const folder = mkdtempSync(path.join(tmpdir(), 'standin-tests-'))
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o711)
  // Browsers and databases that a worker shares among its files end with the worker, and leave their folders behind.
  process.env.TMPDIR = folder
  // CI builds once, then runs several sets of tests at the same time.
  if (process.env.NO_BUILD !== '1') await build(config)
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
}
