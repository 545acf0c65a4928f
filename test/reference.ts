/** `npm run reference`: writes anew what follows from the schemas, the reference configuration and the JSON Schemas for editors. */
import { writeFileSync } from 'node:fs'
import { configJsonSchema } from '../src/cli/config.js'
import { repliesJsonSchema } from '../src/cli/replies.js'
import { configReference } from '../src/config/print.js'

writeFileSync('platform.config.yaml', configReference('./src/config/config.schema.json'))
writeFileSync('src/config/config.schema.json', await configJsonSchema())
writeFileSync('src/replies/replies.schema.json', await repliesJsonSchema())
