/** Saves rules to a new file in a folder where the configuration looks for rules. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ruleNotKept } from '../core/errors.js'
import type { ReplyFiles } from './load.js'

/** Patterns such as `fixtures/replies/*.yaml`: a named folder, and all files in it with a YAML extension. */
const folderPattern = /^([^*?[\]{}!]*?)\/?(?:\*\*\/)?\*(\.ya?ml|\.\{yaml,yml\}|\.\{yml,yaml\})$/

/**
 * The first folder of the configured patterns in which all files with an extension are read; `undefined` if they only
 * name single files.
 */
function placeFor(patterns: readonly string[]) {
  for (const pattern of patterns) {
    const [, folder, ending] = folderPattern.exec(pattern) ?? []
    if (folder !== undefined && ending !== undefined) {
      return { folder: folder || '.', ending: ending.startsWith('.{') ? '.yaml' : ending }
    }
  }
  return undefined
}

/**
 * Saves `text` to a new file and returns its name relative to the configuration. Rejects with a PlatformError that says
 * why that failed.
 */
export async function keepRules(text: string, name: string, { patterns, dir }: ReplyFiles): Promise<string> {
  const place = placeFor(patterns)
  if (!place) {
    throw ruleNotKept(
      patterns.length === 0
        ? 'This platform reads no rules from files. Start it with a configuration, or with the option replies.'
        : `The option replies names no folder in which any file is read, only ${patterns.join(', ')}. Add one such as fixtures/replies/*.yaml.`,
    )
  }
  const file = path.posix.join(place.folder, `${name}${place.ending}`)
  const fullPath = path.resolve(dir, file)
  try {
    await mkdir(path.dirname(fullPath), { recursive: true })
    // An existing file stays, even if it is a link to another place.
    await writeFile(fullPath, text, { flag: 'wx' })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw ruleNotKept(
      code === 'EEXIST' ? `${file} exists already. Choose another name.` : `${file}: ${code ?? message}.`,
    )
  }
  return file
}
