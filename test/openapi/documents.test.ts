import { describe, expect, test } from 'vitest'
import type { OpenApiDocument, OpenApiDocuments } from '../../src/openapi/documents.ts'
import { openApiDocuments } from '../../src/openapi/documents.ts'
import { protobufV2 } from '../../src/openapi/protobuf.ts'
import { openApiTexts } from '../../src/openapi/texts.ts'
import { builtInResources } from '../../src/registry/served/resources.ts'

/** SHA-512 of the whole OpenAPI v2 document of kube-apiserver 1.36.3 as compact JSON, key order included. */
const SWAGGER =
  '276DB9A3BE4566FA02B4C528171436757D13EF0571E215FEF8FC401A847F24B878CE9B027DB689501A7A2F574EC15897D19280E8653A31FBB735C83D4A91BC01'

const plain = { cbor: false }

/** The document of a built-in version, built in one go. */
async function wholeOf(documents: OpenApiDocuments, key: string): Promise<OpenApiDocument> {
  const document = await documents.v3(key)
  if (document === undefined || !('text' in document)) throw new Error(`${key} is not made whole`)
  return document
}

describe('documents of the built-in versions', () => {
  const everything = openApiDocuments(
    builtInResources({ runtimeConfig: 'api/all=true', featureGates: 'AllAlpha=true,AllBeta=true' }),
    plain,
  )

  test('v3: 63 documents, each with the hash that kube-apiserver publishes', async () => {
    const { knownHash } = await openApiTexts(plain)
    expect(everything.keys).toHaveLength(63)
    for (const key of everything.keys) expect((await everything.v3(key))!.hash, key).toBe(knownHash(key))
  })

  test('v3: a default server has 47', () => {
    expect(openApiDocuments(builtInResources(), plain).keys).toHaveLength(47)
  })

  test('v3: a version with a resource switched off has another document', async () => {
    const fewer = openApiDocuments(builtInResources({ runtimeConfig: 'batch/v1/jobs=false' }), plain)
    const { text, hash } = await wholeOf(fewer, 'apis/batch/v1')
    expect(text).not.toContain('"/apis/batch/v1/jobs"')
    expect(await fewer.hash('apis/batch/v1')).toBe(hash)
    expect(hash).not.toBe(await everything.hash('apis/batch/v1'))
  })

  // all documents of kube-apiserver 1.36.3 with OpenAPIEnums=false have the same content
  test('without enums neither schemas nor descriptions say which values a text may have', async () => {
    const documents = openApiDocuments(builtInResources(), { cbor: false, hidesEnums: true })
    const { text, hash } = await wholeOf(documents, 'api/v1')
    const { schemas } = JSON.parse(text).components
    expect(schemas['io.k8s.api.core.v1.PodSpec'].properties.restartPolicy).toEqual({
      description:
        'Restart policy for all containers within the pod. One of Always, OnFailure, Never. In some contexts, only a subset of those values may be permitted. Default to Always. More info: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy',
      type: 'string',
    })
    expect(text).not.toMatch(/Possible enum values|"enum":/)
    expect(await documents.hash('api/v1')).toBe(hash)
    expect(hash).not.toBe(await everything.hash('api/v1'))
    const { text: swagger } = (await documents.v2()) as OpenApiDocument
    expect(swagger).not.toContain('Possible enum values')
  })

  test('v3: every reference resolves in its document', async () => {
    for (const key of ['api/v1', 'apis/apps/v1', 'apis/resource.k8s.io/v1beta1']) {
      const { text } = await wholeOf(everything, key)
      const names = new Set(Object.keys(JSON.parse(text).components.schemas))
      for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) expect(names).toContain(name)
    }
  })

  test('v3: what is no document', async () => {
    expect(await everything.v3('apis/nosuch/v1')).toBeUndefined()
  })

  test('v3: media types with CBOR switched on', async () => {
    const documents = openApiDocuments(builtInResources({ featureGates: 'CBORServingAndStorage=true' }), { cbor: true })
    const { text, hash } = await wholeOf(documents, 'apis/policy/v1')
    const { content } = JSON.parse(text).paths['/apis/policy/v1/poddisruptionbudgets'].get.responses['200']
    expect(Object.keys(content)).toEqual([
      'application/cbor',
      'application/cbor-seq',
      'application/json',
      'application/json;stream=watch',
      'application/vnd.kubernetes.protobuf',
      'application/vnd.kubernetes.protobuf;stream=watch',
      'application/yaml',
    ])
    expect(hash).toMatch(/^0419D7DC9C21C4A1/)
    expect(await documents.hash('apis/policy/v1')).toBe(hash)
    expect(await documents.hash('apis/policy')).toBe(await everything.hash('apis/policy'))
  })

  test('v2: the whole document', async () => {
    expect((await openApiDocuments(builtInResources(), plain).v2()).hash).toBe(SWAGGER)
  })

  test('v2 as protobuf begins with its version and its title', async () => {
    const document = await openApiDocuments(builtInResources(), plain).v2()
    if (!('text' in document)) throw new Error('a server without definitions has its document whole')
    const bytes = protobufV2(document)
    expect(new TextDecoder().decode(bytes.slice(0, 25))).toBe(
      '\n\u00032.0\u0012\u0012\n\nKubernetes\u0012\u00041.36'.slice(0, 25),
    )
    expect(bytes.length).toBeGreaterThan(1_500_000)
  })
})
