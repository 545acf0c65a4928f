/** The configured MCP servers with their tools. */
import { routes, toolAt } from '../../dashboard/routes.js'
import { useConfig } from '../config.jsx'
import { CredentialField, type PlaygroundCaller, useCaller } from '../playground/credential.jsx'
import { useAddress } from '../routing.js'
import { Link } from '../widgets/link.jsx'
import { type Resource, useResource } from '../widgets/resource.js'
import { Empty, Shown } from '../widgets/states.jsx'
import { type Column, Table } from '../widgets/table.jsx'
import { Section, View } from '../widgets/view.jsx'
import { type ListedTool, listTools } from './client.js'
import { ToolSections } from './tool-sections.jsx'

export function McpView() {
  const { query } = useAddress()
  const server = query.get('server')
  const tool = query.get('tool')
  const caller = useCaller()
  if (server === null || tool === null) return <Servers caller={caller} />
  return <Tool key={`${server} ${tool}`} {...{ server, name: tool, caller }} />
}

/** Loads the tools, and again when they may have changed: with another credential, mode or configuration of the server. */
function useTools(path: string, { credential: { bearer }, shown }: PlaygroundCaller): Resource<readonly ListedTool[]> {
  const { mcp, mode } = useConfig()
  const revision = mcp.find(server => server.path === path)?.revision
  return useResource(() => listTools({ path, bearer }), [path, shown, mode, revision])
}

function Servers({ caller }: { readonly caller: PlaygroundCaller }) {
  const { mcp } = useConfig()
  return (
    <View title="MCP" lead="Servers of the Model Context Protocol, and the tools that your agent can call.">
      {mcp.length === 0 ? (
        <Empty title="No MCP servers yet">
          Add <code>mcp:</code> to <code>platform.config.yaml</code>, with the tools of a server.
        </Empty>
      ) : (
        <div class="view-narrow">
          <CredentialField {...caller} />
        </div>
      )}
      {mcp.map(({ path }) => (
        <Server key={path} {...{ path, caller }} />
      ))}
    </View>
  )
}

function Server({ path, caller }: { readonly path: string; readonly caller: PlaygroundCaller }) {
  const tools = useTools(path, caller)
  return (
    <Section title={<code>{path}</code>} label={`Server ${path}`}>
      <Shown of={tools}>
        {all => (
          <Table
            caption={`Tools of ${path}`}
            columns={columnsFor(path)}
            rows={all}
            keyOf={({ name }) => name}
            none={<p class="quiet">This server lists no tools.</p>}
          />
        )}
      </Shown>
    </Section>
  )
}

const columnsFor = (server: string): readonly Column<ListedTool>[] => [
  {
    name: 'Tool',
    width: '32%',
    of: ({ name }) => (
      <Link to={toolAt({ server, tool: name })} class="row-link long-name">
        {name}
      </Link>
    ),
  },
  { name: 'Description', plain: true, of: ({ description }) => description ?? <span class="quiet">none</span> },
]

interface ToolProps {
  readonly server: string
  readonly name: string
  readonly caller: PlaygroundCaller
}

function Tool({ server, name, caller }: ToolProps) {
  const tools = useTools(server, caller)
  return (
    <View title={name} lead={<Link to={routes.mcp}>All MCP servers</Link>}>
      <div class="view-narrow">
        <CredentialField {...caller} />
      </div>
      <Shown of={tools}>
        {all => {
          const tool = all.find(one => one.name === name)
          if (tool) return <ToolSections tool={tool} server={{ path: server, bearer: caller.credential.bearer }} />
          return (
            <Empty title="No such tool">
              <code>{server}</code> lists no tool with this name.
            </Empty>
          )
        }}
      </Shown>
    </View>
  )
}
