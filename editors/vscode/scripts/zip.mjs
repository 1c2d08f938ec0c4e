// Zip archives of a few files, as in PKWARE's APPNOTE 6.3: deflated, without encryption or parts over 4 GiB, with Unix modes.
import * as zlib from 'node:zlib';

/** 1980-01-01, the first date there is: archives of the same files are the same. */
const DATE = 0x0021;
const DEFLATED = 8;
/** Names are UTF-8. */
const FLAGS = 0x0800;
const NEEDED_VERSION = 20;
/** Made on Unix, so that the high half of the attributes is the mode. */
const MADE_BY = (3 << 8) | NEEDED_VERSION;
const REGULAR_FILE = 0o100000;

/** @param {{ name: string, data: Buffer, mode: number }[]} entries */
export function zip(entries) {
    const parts = [];
    const directory = [];
    let offset = 0;
    for (const { name, data, mode } of entries) {
        const path = Buffer.from(name);
        const packed = zlib.deflateRawSync(data, { level: 9 });
        const common = Buffer.alloc(26);
        common.writeUInt16LE(NEEDED_VERSION, 0);
        common.writeUInt16LE(FLAGS, 2);
        common.writeUInt16LE(DEFLATED, 4);
        common.writeUInt16LE(DATE, 8);
        common.writeUInt32LE(checksum(data), 10);
        common.writeUInt32LE(packed.length, 14);
        common.writeUInt32LE(data.length, 18);
        common.writeUInt16LE(path.length, 22);
        const local = Buffer.concat([signature(0x04034b50), common, path, packed]);
        const rest = Buffer.alloc(14);
        rest.writeUInt32LE(((REGULAR_FILE | mode) << 16) >>> 0, 6);
        rest.writeUInt32LE(offset, 10);
        const madeBy = Buffer.alloc(2);
        madeBy.writeUInt16LE(MADE_BY);
        directory.push(signature(0x02014b50), madeBy, common, rest, path);
        parts.push(local);
        offset += local.length;
    }
    const listed = Buffer.concat(directory);
    const end = Buffer.alloc(18);
    end.writeUInt16LE(entries.length, 4);
    end.writeUInt16LE(entries.length, 6);
    end.writeUInt32LE(listed.length, 8);
    end.writeUInt32LE(offset, 12);
    return Buffer.concat([...parts, listed, signature(0x06054b50), end]);
}

function signature(value) {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
}

/** Node has this by itself since 20.15. */
function checksum(data) {
    if (zlib.crc32 !== undefined) {
        return zlib.crc32(data);
    }
    let value = 0xffffffff;
    for (const byte of data) {
        value ^= byte;
        for (let bit = 0; bit < 8; bit += 1) {
            value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
        }
    }
    return (value ^ 0xffffffff) >>> 0;
}
