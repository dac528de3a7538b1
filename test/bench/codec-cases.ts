/** The cases of codecs.ts: each codec on the same Pod, with the fields that a Deployment and a kubelet set. */
import type { ApiRequest } from '../../src/request/context.ts'
import { decodeObject } from '../../src/codec/decode/decode.ts'
import { encodeJson } from '../../src/codec/encode/encode.ts'
import { parseJson } from '../../src/json/parse-json.ts'
import { negotiateOutput } from '../../src/codec/negotiation/negotiate.ts'
import { Presenter, Source } from '../../src/codec/encode/present.ts'
import { decodeMessage } from '../../src/codec/protobuf/decode.ts'
import { encodeMessage } from '../../src/codec/protobuf/encode.ts'
import { listShape, respondList } from '../../src/codec/respond.ts'
import { serializeText } from '../../src/codec/encode/serialize.ts'
import { builtInType } from '../../src/schema/built-in.ts'
import { fakeRequest, fakeScope, NOW, TABLE } from '../codec/fake-scope.ts'
import { pod } from './pod.ts'
import { builtInForms } from '../../src/codec/built-in-forms.ts'
import { useOfNothing } from '../codec/use-of-nothing.ts'

const type = builtInType('io.k8s.api.core.v1.Pod')
const text = encodeJson(type, pod)
const message = encodeMessage(type, pod)

interface Listing {
  readonly request: ApiRequest
  readonly presenter: Presenter
}

function listingFor(accept: string): Listing {
  const request = fakeRequest('GET /api/v1/pods', { Accept: accept })
  const { resource } = fakeScope('v1/pods', request, { storedAsServed: true })
  return {
    request,
    presenter: new Presenter(resource, negotiateOutput(request, { kind: 'list', forms: builtInForms })),
  }
}

const table = listingFor(TABLE)
const json = listingFor('application/json')
const protobuf = listingFor('application/vnd.kubernetes.protobuf')

/** The first case is the base of the others. */
export const cases: Readonly<Record<string, () => unknown>> = {
  'JSON.parse + stringify': () => JSON.stringify(JSON.parse(text)),
  'decode JSON, checked against the schema': () => decodeObject(type, parseJson(text)),
  'canonical JSON': () => encodeJson(type, pod),
  'stored JSON to JSON': () => serializeText(json.presenter.output, json.presenter.json(Source.ofText(text), NOW)),
  'stored JSON to protobuf': () => protobuf.presenter.bytes('protobuf', Source.ofText(text)),
  'encode protobuf': () => encodeMessage(type, pod),
  'decode protobuf': () => decodeMessage(type, message),
  'row of a Table': () => table.presenter.row(Source.ofText(text), NOW),
}

/** The number of objects in a list. */
export const LIST_LENGTH = 10_000

const BATCH = 100
const encoder = new TextEncoder()
const lines = encoder.encode(`${text}\n`.repeat(BATCH))
const elements = encoder.encode(`${text.replace('"kind":"Pod","apiVersion":"v1",', '')},`.repeat(BATCH).slice(0, -1))

/** Streams the pieces as storage would, with a separator between them. */
function stored(piece: Uint8Array, separator: string): ReadableStream<Uint8Array> {
  const between = encoder.encode(separator)
  let pieces = 0
  return new ReadableStream({
    pull(controller) {
      if (pieces > 0 && between.length > 0) controller.enqueue(between)
      controller.enqueue(piece)
      if (++pieces === LIST_LENGTH / BATCH) controller.close()
    },
  })
}

async function answered({ request, presenter: { resource, output } }: Listing): Promise<number> {
  const shape = listShape(resource, output)
  const values = shape.as === 'lines' ? stored(lines, '') : stored(elements, ',')
  const { body } = await respondList({ request, resource }, output, {
    revision: 1,
    isEmpty: false,
    values,
    shape,
    use: useOfNothing,
  })
  let length = 0
  for await (const chunk of body!) length += chunk.length
  return length
}

// workerd has IdentityTransformStream; in Node the class is called TransformStream
Object.assign(globalThis, { IdentityTransformStream: TransformStream })

/** Whole lists, from the stream of storage to the client's body. */
export const lists: Readonly<Record<string, () => Promise<number>>> = {
  'one of 10,000 in a list, JSON': () => answered(json),
  'one of 10,000 in a list, protobuf': () => answered(protobuf),
  'one of 10,000 in a list, Table': () => answered(table),
}
