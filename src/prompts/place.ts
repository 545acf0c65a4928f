/** Where the file of prompts is, and whether there is one. Apart from what writes it, which is loaded on demand. */
import { statSync } from 'node:fs'
import path from 'node:path'
import { readText } from '../check/problem.js'

/** The path of the file: beside the folder of recordings. */
export const promptsFileOf = ({ dir }: { readonly dir: string }) => path.join(path.dirname(dir), 'prompts.yaml')

/** By this, Standin knows its own file, damaged ones included, from one that an app has under this name. */
export const FIRST_WORDS = '# What each test tells the model'

/** Whether there is a file of prompts, which each run keeps up to date. Throws a ProblemsError if it cannot be read. */
export function hasPrompts(folder: { readonly dir: string }): boolean {
  const file = promptsFileOf(folder)
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true && readText(file, file).includes(FIRST_WORDS)
}
