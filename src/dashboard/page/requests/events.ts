/** Reads an event stream, as fetch delivers it. */

export interface StreamEvent {
  readonly name: string
  readonly json: unknown
}

/** Takes the text of a stream apart, wherever the network cut it. Comments and what is not whole yet give nothing. */
export function createEventReader(): (text: string) => readonly StreamEvent[] {
  let rest = ''
  return text => {
    const parts = (rest + text).split('\n\n')
    rest = parts.pop() ?? ''
    return parts.flatMap(part => eventIn(part) ?? [])
  }
}

function eventIn(part: string): StreamEvent | undefined {
  const lines = part.split('\n')
  const fieldIn = (field: string) => lines.find(line => line.startsWith(field))?.slice(field.length)
  const data = fieldIn('data: ')
  return data === undefined ? undefined : { name: fieldIn('event: ') ?? 'message', json: JSON.parse(data) }
}
