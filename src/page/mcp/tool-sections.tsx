/** One tool: what it is for, a form that calls it, and its last calls. */
import { useState } from 'preact/hooks'
import { CodeBlock } from '../widgets/code-block.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { Field, NumberField, Select, TextArea } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { indented } from '../widgets/json.js'
import { Section } from '../widgets/section.jsx'
import { Notice } from '../widgets/states.jsx'
import { argumentsIn, fieldsOf, firstWritten, type ToolField } from './arguments.js'
import { LastCalls, useCalls } from './calls.jsx'
import { callTool, type ListedTool, type McpAddress } from './client.js'

interface Props {
  readonly tool: ListedTool
  readonly server: McpAddress
}

export function ToolSections({ tool, server }: Props) {
  const { name, description, inputSchema, outputSchema } = tool
  const calls = useCalls(server.path, name)
  return (
    <>
      {description !== undefined && <p>{description}</p>}
      <Disclosure summary="Schemas">
        <CodeBlock label="Input schema" code={indented(inputSchema)} />
        {outputSchema && <CodeBlock label="Output schema" code={indented(outputSchema)} />}
      </Disclosure>
      <CallForm {...{ tool, server }} onCalled={calls.reload} />
      <LastCalls of={calls} />
    </>
  )
}

interface CallFormProps extends Props {
  readonly onCalled: () => void
}

function CallForm({ tool: { name, inputSchema }, server, onCalled }: CallFormProps) {
  const fields = fieldsOf(inputSchema)
  const [written, setWritten] = useState(() => firstWritten(fields))
  const [result, setResult] = useState<Readonly<Record<string, unknown>>>()
  const call = async () => {
    setResult(undefined)
    const given = argumentsIn(fields, written)
    setResult(await callTool(server, name, given).finally(onCalled))
  }
  return (
    <Section title="Call" label="Call this tool">
      <Form send="Call tool" onSend={call} said="The tool has answered.">
        {fields.length === 0 && <p class="quiet">This tool takes no arguments.</p>}
        {fields.map(field => (
          <ArgumentField
            key={field.name}
            field={field}
            value={written.get(field.name) ?? ''}
            onChange={value => setWritten(before => new Map(before).set(field.name, value))}
          />
        ))}
      </Form>
      {result && <ToolResult result={result} />}
    </Section>
  )
}

function ToolResult({ result }: { readonly result: Readonly<Record<string, unknown>> }) {
  return (
    <div class="stack">
      {result.isError === true && <Notice tone="care">The tool reports an error.</Notice>}
      <CodeBlock label="Result" code={indented(result)} />
    </div>
  )
}

interface ArgumentFieldProps {
  readonly field: ToolField
  readonly value: string
  readonly onChange: (value: string) => void
}

function ArgumentField({ field, ...control }: ArgumentFieldProps) {
  const { name, kind, values, isRequired, description } = field
  const hint = [isRequired ? 'Required.' : '', description ?? ''].join(' ').trim()
  const about = { ...control, name, label: kind === 'json' ? `${name} (JSON)` : name, hint }
  switch (kind) {
    case 'text':
      return <Field {...about} required={false} />
    case 'number':
      return <NumberField {...about} />
    case 'json':
      return <TextArea {...about} code />
    case 'choice':
      return <Select {...about} options={[['', 'Not set'], ...values.map(value => [value, value] as const)]} />
  }
}
