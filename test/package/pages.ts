/** What the pages show: files, and commands. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import type { Files } from '../command.js'

export const page = (name: string) => readFileSync(path.join(import.meta.dirname, '../..', name), 'utf8')

/** The code blocks of a page by the file names in their first lines. */
export const filesOf = (name: string): Files => {
  const blocks = page(`docs/${name}`).matchAll(/^```\w+\n(?:\/\/|#) ([\w./-]+)\n(.*?)^```/gms)
  return Object.fromEntries([...blocks].map(([, file = '', code = '']) => [file, code]))
}

const documented = (file: string) =>
  filesOf('testing-another-process.md')[file] ?? expect.fail(`docs/testing-another-process.md has no ${file}.`)

/** The files of a globalSetup in the documentation. */
export const remote: Files = Object.fromEntries(
  ['standin.ts', 'vitest.config.ts', 'weather.spec.ts'].map(file => [`remote/${file}`, documented(file)]),
)

/** The lines of a page for a shell that run Standin, without their comments. */
export const commandsOn = (name: string): readonly string[] =>
  [...page(name).matchAll(/^```(?:sh|bash)\n(.*?)^```/gms)]
    .flatMap(([, code = '']) => code.replaceAll('\\\n', ' ').split('\n'))
    .map(line => line.replace(/ *(?:^| )# .*/, ''))
    .filter(line => /(?:^|[ (])standin(?: |$)/.test(line))
