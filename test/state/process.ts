/** A separate process that works on a state: `process.ts WHERE DIR WORK`. */
import { openState } from '../../src/state/index.js'
import { at, message, session, user } from './rows.js'

const [where = '', dir = '', work] = process.argv.slice(2)
const print = (line: string) => process.stdout.write(`${line}\n`)

const state = await openState(where, { dir })

switch (work) {
  // Writes pairs of rows until it is killed, and prints the id of each pair that is committed.
  case 'write':
    for (let n = 0; ; n++) {
      const id = `${process.pid}-${n}`
      await state.write(async ({ messages, sessions }) => {
        await messages.insert(message({ id, created_at: at(n) }))
        await sessions.insert(session({ id, created_at: at(n) }))
      })
      print(id)
    }
  // Opens, reads and closes; anything left open would keep the process alive.
  case 'look':
    state.onRevoked(() => {})
    await state.read(({ users }) => users.count({}))
    await state.close()
    print('closed')
    break
  // Holds the write lock forever.
  case 'hold':
    await state.write(async ({ users }) => {
      await users.insert(user({ id: 'unfinished' }))
      print('holding')
      await new Promise(resolve => setTimeout(resolve, 2 ** 30))
    })
}
