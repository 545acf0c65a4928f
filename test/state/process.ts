/** A process of its own that works on a state: `process.ts WHERE DIR WORK`. */
import { once } from 'node:events'
import { openState } from '../../src/state/index.js'
import { at, message, session, user } from './rows.js'

const [where = '', dir = '', work] = process.argv.slice(2)
const say = (line: string) => process.stdout.write(`${line}\n`)

// What comes next, several do at the same moment.
if (work === 'count') {
  say('ready')
  await once(process.stdin, 'data')
  process.stdin.destroy()
}
const state = await openState(where, { dir })

switch (work) {
  // Writes pairs of rows until it is killed, and says so of each pair that is kept.
  case 'write':
    for (let n = 0; ; n++) {
      const id = `${process.pid}-${n}`
      await state.write(async ({ messages, sessions }) => {
        await messages.insert(message({ id, created_at: at(n) }))
        await sessions.insert(session({ id, created_at: at(n) }))
      })
      say(id)
    }
  case 'count':
    for (let n = 0; n < 20; n++) {
      await state.write(async ({ users }) => {
        const row = await users.get('ada')
        if (!row) return users.insert(user({ user_metadata: { count: 1 } }))
        await users.update('ada', { user_metadata: { count: Number(row.user_metadata.count) + 1 } })
      })
    }
    await state.close()
    break
  case 'ban':
    await state.write(({ users }) => users.update('ada', { banned_until: at(9) }))
    await state.close()
    break
  // Opens, looks and closes; whatever is left over keeps it from ending.
  case 'look':
    state.onRevoked(() => {})
    await state.read(({ users }) => users.count({}))
    await state.close()
    say('closed')
    break
  // Holds the writers' lock for good.
  case 'hold':
    await state.write(async ({ users }) => {
      await users.insert(user({ id: 'unfinished' }))
      say('holding')
      await new Promise(resolve => setTimeout(resolve, 2 ** 30))
    })
}
