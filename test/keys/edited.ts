/** A platform in this process whose configuration is a file that can be edited. */
import { onTestFinished } from 'vitest'
import type { ConfigInput } from '../../src/index.js'
import { openPlatform, type Platform } from '../../src/platform.js'
import { type Files, folderWith, writeInto } from '../command.js'

interface Edited {
  readonly dir: string
  /** The platform that is running. */
  readonly platform: Platform
  /** Rewrites the configuration and reloads it. */
  reload(options: ConfigInput, files?: Files): Promise<void>
  /** Stops the platform, rewrites the configuration and starts another platform. */
  restart(options: ConfigInput, files?: Files): Promise<void>
}

/** A configuration file. JSON is valid YAML. */
export const written = (options: ConfigInput, files: Files = {}): Files => ({
  ...files,
  'platform.config.yaml': `${JSON.stringify({ port: 0, ...options }, null, 2)}\n`,
})

/** Starts a platform in a folder with this configuration and these files. The state is in memory unless they say otherwise. */
export async function platformOf(options: ConfigInput, files: Files = {}): Promise<Edited> {
  const inMemory = { state: 'memory' }
  const dir = folderWith(written({ ...inMemory, ...options }, files))
  const open = () => openPlatform({ cwd: dir, env: {} })
  let platform = await open()
  onTestFinished(() => platform.stop())
  return {
    dir,
    get platform() {
      return platform
    },
    async reload(options, files) {
      writeInto(dir, written({ ...inMemory, ...options }, files))
      await platform.reload()
    },
    async restart(options, files) {
      await platform.stop()
      writeInto(dir, written({ ...inMemory, ...options }, files))
      platform = await open()
    },
  }
}
