/** Asks the control API, with the key of whoever has shown one: it is closed where other machines can reach it. */
import { useMemo } from 'preact/hooks'
import { type AskOptions, answerAt, askAt } from './ask.js'
import { useServiceKey } from './people/service-key.jsx'

export type AskControl = <Json>(path: string, how?: Omit<AskOptions, 'bearer'>) => Promise<Json>

/** The JSON of the answer below /__standin; `undefined` where there is none. Rejects with a Failure in the API's own words. */
export const askControl = <Json>(path: string, how?: AskOptions): Promise<Json> => askAt(`/__standin${path}`, how)

/** The answer as it comes, for whoever wants no JSON of it. */
export const answerControl = (path: string, how?: AskOptions): Promise<Response> => answerAt(`/__standin${path}`, how)

/** The JSON, with the key; another function whenever that is another one. */
export function useAskControl(): AskControl {
  const { serviceKey: bearer } = useServiceKey()
  return useMemo(() => (path, how) => askControl(path, { ...how, bearer }), [bearer])
}
