/** Where Activity goes: to an exchange, to a filter, and to a request that was sent again. */
import { control } from '../api.js'
import { navigate } from '../routing.jsx'
import { filterIn, queryOf, withWord } from './filter.js'

const query = () => new URLSearchParams(location.search)

/** Opens an exchange beside the list, which stays filtered as it is. */
export const openExchange = (id: string): void => navigate(location.pathname + queryOf(filterIn(query()), id))

/** Shows only requests with a value that was clicked. */
export function filterBy(word: string, value: string): void {
  const filter = withWord(filterIn(query()), word, value)
  navigate(location.pathname + queryOf(filter, query().get('id') ?? undefined), { replace: true })
}

/** Sends the request of an exchange again, or with another body, and opens the new one. */
export async function sendAgain(id: string, body?: string): Promise<void> {
  openExchange((await control('POST /journal/{id}/again', { id, body: { body } })).id)
}
