/** Keeps rules in a file of their own, in a folder where the configuration looks for rules. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ruleNotKept } from '../core/errors.js'
import type { ReplyFiles } from './load.js'

/** Where rules can be kept: any file with this ending in this folder is read. */
interface Place {
  /** Relative to the configuration. */
  readonly folder: string
  readonly ending: string
}

/** `fixtures/replies/*.yaml` and its like: a folder that is named, and any file in it with an ending of YAML. */
const open = /^([^*?[\]{}!]*?)\/?(?:\*\*\/)?\*(\.ya?ml|\.\{yaml,yml\}|\.\{yml,yaml\})$/

/** The first place among the patterns of the configuration; nothing where they name single files only. */
export function placeFor(patterns: readonly string[]): Place | undefined {
  for (const pattern of patterns) {
    const [, folder, ending] = open.exec(pattern) ?? []
    if (folder !== undefined && ending !== undefined) {
      return { folder: folder || '.', ending: ending.startsWith('.{') ? '.yaml' : ending }
    }
  }
  return undefined
}

/** `text` as a new file; gives back its name relative to the configuration. Rejects with a PlatformError that says why not. */
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
  const full = path.resolve(dir, file)
  try {
    await mkdir(path.dirname(full), { recursive: true })
    // Whatever is there stays, be it a link to somewhere else.
    await writeFile(full, text, { flag: 'wx' })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw ruleNotKept(
      code === 'EEXIST' ? `${file} exists already. Choose another name.` : `${file}: ${code ?? message}.`,
    )
  }
  return file
}
