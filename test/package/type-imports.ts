/** The packages that the types of the built package import: its users need those as well. */
import { readFileSync } from 'node:fs'
import path from 'node:path'

/** The packages that the types in `folder` import, starting from these entries and without Node's own. */
export function packagesNamed(folder: string, entries: readonly string[]): ReadonlySet<string> {
  const files = new Set(entries.map(entry => path.join(folder, entry)))
  const packages = new Set<string>()
  // Iterating a Set also visits items that are added on the way.
  for (const file of files) {
    for (const name of namesIn(readFileSync(file, 'utf8'))) {
      if (name.startsWith('.')) files.add(path.join(path.dirname(file), name.replace(/\.js$/, '.d.ts')))
      else if (!name.startsWith('node:')) packages.add(name)
    }
  }
  return packages
}

const namesIn = (text: string) =>
  [...withoutComments(text).matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)].map(([, name = '']) => name)

const withoutComments = (text: string) => text.replace(/\/\*.*?\*\//gs, '')
