/** Frames events of a watch for the wire: JSON lines, protobuf with lengths, or a CBOR sequence. */
import type { JsonObject } from '../../api/object.ts'
import type { StatusError } from '../../api/status.ts'
import type { EncodedResource } from '../encoded-resource.ts'
import { builtInType } from '../../schema/built-in.ts'
import { cborWatchEvent } from '../cbor/encode.ts'
import { encodeJson } from './encode.ts'
import type { OutputNegotiation } from '../negotiation/negotiate.ts'
import { INITIAL_EVENTS_END, passesText, Presenter, Source } from './present.ts'
import { watchFrame } from '../protobuf/envelope.ts'
import { serializeBinary } from './serialize.ts'
import type { BinarySerialization } from './serialize.ts'
import { zeroObject } from './zero-object.ts'

export interface WatchFramer {
  /** Whether a WebSocket gets text messages. */
  readonly isText: boolean
  /** Whether storage's lines are the lines of this watch without a change. */
  readonly passesLines: boolean
  /**
   * May run in a walk (base/parts.ts).
   * @param source in the storage version
   * @throws where the object has no such form, which ends the watch
   */
  event(type: string, source: Source): Uint8Array
  /** Estimates the time of an event, as the length in UTF-16 units of a plain object that takes the same time. */
  weigh(length: number): number
  bookmark(revision: number, initialEventsEnd: boolean): Uint8Array
  error(status: StatusError): Uint8Array
}

/**
 * @param clock milliseconds since 1970
 * @throws StatusError 400 for an invalid `includeObject` where the client asks for Tables
 */
export function watchFramer(resource: EncodedResource, output: OutputNegotiation, clock: () => number): WatchFramer {
  switch (output.serialization) {
    case 'protobuf':
      return new ProtobufFramer(resource, output, clock)
    case 'cbor':
      return new CborFramer(resource, output, clock)
    default:
      return new JsonFramer(resource, output, clock)
  }
}

abstract class Framer implements WatchFramer {
  abstract readonly isText: boolean
  abstract readonly passesLines: boolean
  protected readonly presenter: Presenter

  constructor(
    protected readonly resource: EncodedResource,
    protected readonly output: OutputNegotiation,
    protected readonly clock: () => number,
  ) {
    this.presenter = new Presenter(resource, output)
  }

  protected abstract frame(type: string, source: Source): Uint8Array
  abstract error(status: StatusError): Uint8Array

  event(type: string, source: Source): Uint8Array {
    return this.checked(type, source)
  }

  weigh(length: number): number {
    return this.presenter.weigh(length)
  }

  /** An event whose object has only a resourceVersion. */
  bookmark(revision: number, initialEventsEnd: boolean): Uint8Array {
    const metadata = {
      resourceVersion: String(revision),
      ...(initialEventsEnd ? { annotations: { [INITIAL_EVENTS_END]: 'true' } } : {}),
    }
    return this.checked('BOOKMARK', Source.ofObject(zeroObject(this.resource, metadata)))
  }

  /** Where the client asks for lists, kube-apiserver fails at the first event and ends the watch. */
  private checked(type: string, source: Source): Uint8Array {
    this.presenter.checkObject()
    return this.frame(type, source)
  }
}

const encoder = new TextEncoder()

const statusType = () => builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.Status')

class JsonFramer extends Framer {
  readonly isText: boolean = true
  private hasColumns = false

  get passesLines(): boolean {
    return this.output.transform === undefined && passesText(this.resource)
  }

  protected frame(type: string, source: Source): Uint8Array {
    // only the first event of a Table has columns
    const text = this.presenter.json(source, new Date(this.clock()), !this.hasColumns)
    this.hasColumns = true
    return this.line(type, text)
  }

  error({ status }: StatusError): Uint8Array {
    return this.line('ERROR', encodeJson(statusType(), status as unknown as JsonObject))
  }

  protected line(type: string, object: string): Uint8Array {
    return encoder.encode(`{"type":"${type}","object":${object}}\n`)
  }
}

abstract class BinaryFramer extends Framer {
  readonly isText = false
  readonly passesLines = false
  protected abstract readonly serialization: BinarySerialization
  protected abstract around(type: string, object: Uint8Array): Uint8Array

  protected frame(type: string, source: Source): Uint8Array {
    return this.around(type, this.presenter.bytes(this.serialization, source))
  }

  error({ status }: StatusError): Uint8Array {
    const json = status as unknown as JsonObject
    return this.around('ERROR', serializeBinary(this.serialization, statusType(), json))
  }
}

class ProtobufFramer extends BinaryFramer {
  protected readonly serialization = 'protobuf'

  protected around(type: string, object: Uint8Array): Uint8Array {
    return watchFrame(type, object)
  }
}

class CborFramer extends BinaryFramer {
  protected readonly serialization = 'cbor'

  protected around(type: string, object: Uint8Array): Uint8Array {
    return cborWatchEvent(type, object)
  }
}
