/** `npm run reference`: writes anew what follows from the schemas, the reference configuration and the JSON Schemas for editors. */
import { writeFileSync } from 'node:fs'
import { jsonSchemaOf } from '../src/config/json-schema.js'
import { configReference } from '../src/config/print.js'
import { configSchema } from '../src/config/schema.js'
import { rulesSchema } from '../src/replies/index.js'

writeFileSync('platform.config.yaml', configReference('./src/config/config.schema.json'))
writeFileSync(
  'src/config/config.schema.json',
  await jsonSchemaOf(configSchema, 'Configuration of Standin', { variables: true }),
)
writeFileSync(
  'src/replies/replies.schema.json',
  await jsonSchemaOf(rulesSchema, 'Rules of what the emulated model says'),
)
