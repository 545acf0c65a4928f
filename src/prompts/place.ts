/** Where the file of prompts is, and whether there is one. Apart from what writes it, which is loaded on demand. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** The path of the file: beside the folder of recordings. */
export const promptsFileOf = ({ dir }: { readonly dir: string }) => path.join(path.dirname(dir), 'prompts.yaml')

/** By this, Standin knows its own file, damaged ones included, from one that an app has under this name. */
export const FIRST_WORDS = '# What each test tells the model'

/** Whether there is a file of prompts, which each run keeps up to date. */
export function hasPrompts(folder: { readonly dir: string }): boolean {
  const file = promptsFileOf(folder)
  return existsSync(file) && readFileSync(file, 'utf8').includes(FIRST_WORDS)
}
