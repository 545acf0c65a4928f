import { expect, test } from 'vitest'
import { readYaml } from '../../src/check/yaml.js'
import type { ConfigInput } from '../../src/index.js'
import { run } from '../command.js'
import { platformOf, written } from '../keys/edited.js'

test('openapi prints the document of the configuration as JSON or YAML, with custom paths, and the platform serves the same', async () => {
  const options = {
    access: { health: ['apiKey'] },
    models: [{ id: 'one' }],
    replies: ['replies.yaml'],
    resources: { '/builder/projects': {} },
    mcp: { '/mcp': { tools: [] } },
  } satisfies ConfigInput
  const rules = { 'replies.yaml': '- on: POST /builder/projects/:id/deploy\n  reply: { status: 202 }\n' }
  const files = written(options, rules)
  const { code, stdout, stderr } = await run(['openapi'], { files })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const document = JSON.parse(stdout)
  expect(document.openapi).toBe('3.1.0')
  expect(document.paths['/health'].get.security).toEqual([{ apiKey: [] }])
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining(['/builder/projects/{id}/deploy', '/builder/projects', '/builder/projects/{id}', '/mcp']),
  )

  const asYaml = await run(['openapi', '--yaml'], { files })
  expect(readYaml(asYaml.stdout, 'the document').value).toEqual(document)

  const { platform } = await platformOf(options, rules)
  const served = (await (await fetch(`${platform.url}/__standin/openapi.json`)).json()) as object
  expect({ ...served, servers: [] }).toEqual({ ...document, servers: [] })
})

test('openapi reports mistakes in the configuration and in its arguments', async () => {
  const wrong = await run(['openapi'], { files: { 'platform.config.yaml': 'port: many\n' } })
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('port must be') })
  expect(await run(['openapi', 'now'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('takes no arguments'),
  })
  expect(await run(['dev', '--yaml'])).toMatchObject({ code: 2, stderr: expect.stringContaining('standin openapi') })
})
