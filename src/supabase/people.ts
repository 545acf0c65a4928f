/** What a developer sees of users and of the outbox. */
import type { State } from '../core/state.js'
import type { People } from './operations.js'
import { userJson } from './users.js'

export const createPeople = (state: () => Promise<State>): People => ({
  users: async page =>
    (await state()).read(async ({ users }) => ({
      data: (await users.find({}, page)).map(userJson),
      total: await users.count({}),
    })),
  messages: async () => (await state()).read(({ messages }) => messages.find({})),
  async clearMessages() {
    await (await state()).write(({ messages }) => messages.remove({}))
  },
})
