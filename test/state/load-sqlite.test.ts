/** Loading Node's SQLite hides one warning, and no other. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { loadSqlite } from '../../src/state/sqlite.js'

test('only the warning that SQLite is experimental is kept from those who listen to warnings', async () => {
  const before = process.rawListeners('warning')
  const heard: string[] = []
  const listener = ({ message }: Error) => void heard.push(message)
  process.on('warning', listener)
  onTestFinished(() => void process.off('warning', listener))
  const experimental = 'SQLite is an experimental feature and might change at any time'
  process.emitWarning(experimental, 'ExperimentalWarning')
  process.emitWarning('Something else')
  expect(loadSqlite()).toHaveProperty('DatabaseSync')
  await turn()
  expect(heard).toEqual(['Something else'])
  expect(process.rawListeners('warning')).toEqual([...before, listener])
  process.emitWarning('Later')
  await turn()
  expect(heard).toEqual(['Something else', 'Later'])
})
