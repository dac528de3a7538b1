import { expect, test } from 'vitest'
import { serveOpenApiV3 } from '../../src/endpoints/documents/openapi.ts'
import { protobufV3 } from '../../src/openapi/protobuf.ts'
import { customServing } from '../../src/registry/custom-resources/custom-serving.ts'
import { builtInResources } from '../../src/registry/served/resources.ts'
import { withDynamic } from '../../src/registry/served/served-groups.ts'
import { memoryServer } from '../request-in-memory.ts'

test('a large document of custom resources in protobuf is sent in slices, and is that of its JSON', async () => {
  const builtIn = builtInResources()
  const properties = Object.fromEntries(
    Array.from({ length: 4_000 }, (_, n) => [`p${n}`, { type: 'string', description: 'x'.repeat(100) }]),
  )
  const resource = {
    ...builtIn.find('', 'v1', 'configmaps')!,
    group: 'demo.example.com',
    type: 'com.example.demo.v1.Thing',
    serving: customServing,
    openApi: { schemaOf: { uid: 'uid', generation: 1 }, schema: { type: 'object', properties } },
  }
  const served = withDynamic(builtIn, [
    { group: resource.group, priority: 1, versions: [{ version: 'v1', priority: 1, resources: [resource] }] },
  ])
  const server = memoryServer()
  const answerIn = (accept: string): Promise<Response> => {
    const request = server.request('/openapi/v3/apis/demo.example.com/v1', { headers: { Accept: accept } })
    return serveOpenApiV3(request, served, '/apis/demo.example.com/v1')
  }
  const text = await (await answerIn('application/json')).text()
  const response = await answerIn('application/com.github.proto-openapi.spec.v3@v1.0+protobuf')
  const pieces: Uint8Array[] = []
  for await (const piece of response.body!) pieces.push(piece)
  expect(pieces.length).toBeGreaterThan(4)
  expect(Buffer.concat(pieces)).toEqual(Buffer.from(protobufV3({ text })))
})
