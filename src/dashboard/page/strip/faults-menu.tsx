/** Failures for the next requests: presets, one line of text, and those that wait. */
import type { SituationJson } from '../../../http/situation.js'
import { control } from '../api.js'
import { Failure } from '../failure.js'
import { Button } from '../widgets/button.jsx'
import { Field } from '../widgets/fields.jsx'
import { Form, useAction, useFields } from '../widgets/form.jsx'
import { parsed } from '../widgets/json.js'
import { FailureNote } from '../widgets/states.jsx'

type Faults = SituationJson['faults']
type Fault = Faults[number]['fault']

const presets: Readonly<Record<string, Fault>> = {
  'Unavailable, 503': { status: 503 },
  'Too many requests, 429': { status: 429, retryAfter: 2 },
  'Cut off in the stream': { cutAfterChunks: 3 },
  'No answer': { hang: true },
}

const inWords = (fault: Fault) =>
  Object.entries(fault)
    .map(([name, value]) => (value === true ? name : `${name}=${value}`))
    .join('; ')

/** A fault as the header x-standin-fault has it: `status=429; retryAfter=2`, or `hang`. */
export function faultIn(line: string): Fault {
  const parts = line.split(';').map(part => part.trim())
  const entries = parts.filter(Boolean).map(part => {
    const [name = '', ...value] = part.split('=')
    const text = value.join('=').trim()
    return [name.trim(), text === '' ? true : (parsed(text) ?? text)] as const
  })
  if (entries.length === 0)
    throw new Failure(-1, 'Write a fault, such as status=429; retryAfter=2.', { field: 'fault' })
  return Object.fromEntries(entries) as Fault
}

export function FaultsMenu({ faults }: { readonly faults: Faults }) {
  const { failure, run } = useAction()
  const { values, field } = useFields({ fault: '', times: '1' })
  const add = (fault: Fault, times = 1) => control('POST /faults', { body: { fault, times } })
  const typed = () => add(faultIn(values.fault), Number(values.times))
  return (
    <>
      <p class="quiet small">For the next request:</p>
      <div class="row">
        {Object.entries(presets).map(([name, fault]) => (
          <Button key={name} small onClick={() => run(() => add(fault), `${name}: for the next request.`)}>
            {name}
          </Button>
        ))}
      </div>
      <Form send="Add" small tone="plain" onSend={typed} said="The fault waits for a request.">
        <div class="fault-line">
          <Field
            label="Fault"
            placeholder="status=500; message=Oops"
            hint="As in the header x-standin-fault."
            {...field('fault')}
          />
          <Field label="Requests" {...field('times')} />
        </div>
      </Form>
      {faults.length > 0 && (
        <ul class="lined" aria-label="Faults that wait">
          {faults.map(({ id, fault, times = 1, path }) => (
            <li key={id} class="row">
              <code class="grow">{inWords(fault)}</code>
              <span class="quiet small">
                {times > 1 && `${times} requests`} {path}
              </span>
              <Button small about={inWords(fault)} onClick={() => run(() => control('DELETE /faults/{id}', { id }))}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <FailureNote failure={failure} />
    </>
  )
}
