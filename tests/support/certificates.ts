// Certificates made on the spot: an authority, and certificates that it signs, for servers and
// clients. Just enough of X.509, written as DER by hand, so that tests of TLS need neither a
// program nor files that expire.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

export interface Certificate {
  readonly name: string;
  /** PEM. */
  readonly certificate: string;
  /** PEM (PKCS 8). */
  readonly key: string;
}

export interface Authority extends Certificate {
  /** A certificate of this authority. `hosts`: names and IPv4 addresses that it is for. */
  issue(name: string, options?: { hosts?: readonly string[]; from?: Date; to?: Date }): Certificate;
}

const DAY_MS = 86_400_000;

function tlv(tag: number, ...parts: Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const head = length < 0x80
    ? [length]
    : length < 0x100
    ? [0x81, length]
    : [0x82, length >> 8, length & 0xff];
  const out = new Uint8Array(1 + head.length + length);
  out.set([tag, ...head]);
  let at = 1 + head.length;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const text = (s: string) => new TextEncoder().encode(s);
const sequence = (...parts: Uint8Array[]) => tlv(0x30, ...parts);
const octets = (...parts: Uint8Array[]) => tlv(0x04, ...parts);
const bits = (bytes: Uint8Array) => tlv(0x03, Uint8Array.of(0), bytes);
const TRUE = tlv(0x01, Uint8Array.of(0xff));

function oid(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tlv(0x06, Uint8Array.from(bytes));
}

const ECDSA_WITH_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
const nameOf = (commonName: string) =>
  sequence(tlv(0x31, sequence(oid("2.5.4.3"), tlv(0x0c, text(commonName)))));
/** GeneralizedTime, in whole seconds. */
const time = (date: Date) =>
  tlv(0x18, text(`${date.toISOString().replace(/\D/g, "").slice(0, 14)}Z`));
const extension = (id: string, critical: boolean, value: Uint8Array) =>
  sequence(oid(id), ...(critical ? [TRUE] : []), octets(value));
const ipv4 = /^\d+\.\d+\.\d+\.\d+$/;
const hostName = (host: string) =>
  ipv4.test(host) ? tlv(0x87, Uint8Array.from(host.split(".").map(Number))) : tlv(0x82, text(host));
const keyId = (spki: Uint8Array) => createHash("sha1").update(spki).digest();

function pem(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der).toString("base64").match(/.{1,64}/g)!;
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

interface Signer {
  readonly name: string;
  readonly key: KeyObject;
  readonly spki: Uint8Array;
}

interface Wanted {
  readonly name: string;
  readonly hosts?: readonly string[] | undefined;
  readonly from: Date;
  readonly to: Date;
  readonly authority: boolean;
}

function make(
  wanted: Wanted,
  issuer: Signer | undefined,
): { certificate: Certificate; signer: Signer } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = new Uint8Array(publicKey.export({ type: "spki", format: "der" }));
  const self: Signer = { name: wanted.name, key: privateKey, spki };
  const by = issuer ?? self;
  const serial = randomBytes(8);
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  const extensions = [
    extension("2.5.29.19", true, sequence(...(wanted.authority ? [TRUE] : []))),
    // Signing alone, or signing of certificates.
    extension(
      "2.5.29.15",
      true,
      tlv(0x03, ...(wanted.authority ? [Uint8Array.of(1, 0x06)] : [Uint8Array.of(7, 0x80)])),
    ),
    extension("2.5.29.14", false, octets(keyId(spki))),
    extension("2.5.29.35", false, sequence(tlv(0x80, keyId(by.spki)))),
    ...(wanted.authority ? [] : [
      extension("2.5.29.37", false, sequence(oid("1.3.6.1.5.5.7.3.1"), oid("1.3.6.1.5.5.7.3.2"))),
    ]),
    ...(wanted.hosts === undefined
      ? []
      : [extension("2.5.29.17", false, sequence(...wanted.hosts.map(hostName)))]),
  ];
  const body = sequence(
    tlv(0xa0, tlv(0x02, Uint8Array.of(2))),
    tlv(0x02, serial),
    ECDSA_WITH_SHA256,
    nameOf(by.name),
    sequence(time(wanted.from), time(wanted.to)),
    nameOf(wanted.name),
    spki,
    tlv(0xa3, sequence(...extensions)),
  );
  const signature = new Uint8Array(sign("sha256", body, by.key));
  const der = sequence(body, ECDSA_WITH_SHA256, bits(signature));
  return {
    certificate: {
      name: wanted.name,
      certificate: pem("CERTIFICATE", der),
      key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    },
    signer: self,
  };
}

/** A new authority of this name, valid from yesterday to tomorrow. */
export function authority(name: string): Authority {
  const [from, to] = [new Date(Date.now() - DAY_MS), new Date(Date.now() + DAY_MS)];
  const { certificate, signer } = make({ name, from, to, authority: true }, undefined);
  return {
    ...certificate,
    issue(subject, options = {}) {
      const validity = { from: options.from ?? from, to: options.to ?? to };
      return make({ name: subject, hosts: options.hosts, ...validity, authority: false }, signer)
        .certificate;
    },
  };
}
