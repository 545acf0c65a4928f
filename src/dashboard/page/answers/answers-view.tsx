/** Everything that can answer: rules, recordings, the tools of MCP servers, and resources. */
import type { OfferedServer } from '../../../mcp/operations.js'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { Link } from '../routing.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { EVERY_MS, useResource } from '../widgets/resource.js'
import { Empty } from '../widgets/states.jsx'
import { Table } from '../widgets/table.jsx'
import { Section, Tabs, View } from '../widgets/view.jsx'
import { accessInWords, counted } from '../wording.js'
import { Recordings } from './recordings.jsx'
import { Rules } from './rules.jsx'

export const AnswersView = () => (
  <View
    title="Answers"
    lead="What answers your app’s requests. Change the files in your editor; Standin reads them again at once."
  >
    <Tabs
      label="Answers"
      at="tab"
      tabs={[
        { name: 'Rules', content: <Rules /> },
        { name: 'Recordings', content: <Recordings /> },
        { name: 'Tools', content: <OfferedTools /> },
        { name: 'Resources', content: <ResourceList /> },
      ]}
    />
  </View>
)

function OfferedTools() {
  const loaded = useResource(async signal => (await control('GET /mcp', { signal })).data, [], EVERY_MS)
  return (
    <DeveloperOnly of={loaded}>
      {servers =>
        servers.length === 0 ? (
          <Empty title="No MCP servers">
            Add one to <code>mcp</code> in the configuration.
          </Empty>
        ) : (
          servers.map(server => <Server key={server.path} of={server} />)
        )
      }
    </DeveloperOnly>
  )
}

function Server({ of: { name, path, tools, resources, resourceTemplates, prompts } }: { readonly of: OfferedServer }) {
  const others = [
    counted(resources.length + resourceTemplates.length, 'resource'),
    counted(prompts.length, 'prompt'),
  ].join(', ')
  return (
    <Section
      title={name}
      lead={
        <>
          <code>{path}</code> also has {others}. <Link to={requestsAt(path)}>Requests</Link>
        </>
      }
    >
      <Table
        caption={`Tools of ${name}`}
        columns={[
          { name: 'Tool', of: ({ name }) => <code>{name}</code> },
          { name: 'Does', width: '60%', of: ({ description, title }) => description ?? title ?? '' },
        ]}
        rows={tools}
        keyOf={({ name }) => name}
        none={<p class="quiet">It has no tools.</p>}
      />
    </Section>
  )
}

const requestsAt = (endpoint: string) => `${routes.activity}?${new URLSearchParams({ endpoint })}`

function ResourceList() {
  const loaded = useResource(async signal => (await control('GET /resources', { signal })).data, [], EVERY_MS)
  return (
    <DeveloperOnly of={loaded}>
      {resources => (
        <Table
          caption="Resources"
          columns={[
            { name: 'Path', of: ({ path }) => <code class="long-name">{path}</code> },
            { name: 'Rows', width: '15%', of: ({ rows }) => rows },
            { name: 'Credential', width: '40%', of: ({ access }) => accessInWords(access) },
          ]}
          rows={resources}
          keyOf={({ path }) => path}
          none={
            <Empty title="No resources">
              Add one to <code>resources</code> in the configuration: a collection of rows that your app can change.
            </Empty>
          }
        />
      )}
    </DeveloperOnly>
  )
}
