/** What a developer sees of users and of the outbox. */
import type { MessageRow, State } from '../core/state.js'
import { type UserJson, userJson } from './users.js'

export interface People {
  /** Users, the newest first. */
  users(page: { limit: number; offset: number }): Promise<{ users: readonly UserJson[]; total: number }>
  /** The outbox, the newest first. */
  messages(): Promise<readonly MessageRow[]>
  clearMessages(): Promise<void>
}

export const createPeople = (state: () => Promise<State>): People => ({
  users: async page =>
    (await state()).read(async ({ users }) => ({
      users: (await users.find({}, page)).map(userJson),
      total: await users.count({}),
    })),
  messages: async () => (await state()).read(({ messages }) => messages.find({})),
  async clearMessages() {
    await (await state()).write(({ messages }) => messages.remove({}))
  },
})
