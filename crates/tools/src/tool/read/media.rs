//! `Media`: images and documents, recognised by their first bytes, never by their names.
//!
//! Only formats that models accept directly: PNG, JPEG, GIF, WebP and PDF. Nothing is decoded; an image's size is read
//! from its header.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media {
    Png,
    Jpeg,
    Gif,
    Webp,
    Pdf,
}

impl Media {
    /// Returns the type of a file with this start, if it is one of them.
    pub(super) fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            [b'%', b'P', b'D', b'F', b'-', ..] => Some(Self::Pdf),
            _ => None,
        }
    }

    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Pdf => "application/pdf",
        }
    }

    /// Returns width and height in pixels from the header of an image; `None` if it has none.
    pub(super) fn dimensions(self, bytes: &[u8]) -> Option<(u32, u32)> {
        let (width, height) = match self {
            Self::Png if bytes.get(12..16)? == b"IHDR" => (big_endian(bytes, 16, 4)?, big_endian(bytes, 20, 4)?),
            Self::Gif => (little_endian(bytes, 6, 2)?, little_endian(bytes, 8, 2)?),
            Self::Webp => webp_dimensions(bytes)?,
            Self::Jpeg => jpeg_dimensions(bytes)?,
            Self::Png | Self::Pdf => return None,
        };
        (width > 0 && height > 0).then_some((width, height))
    }
}

/// The first chunk names one of three kinds of frame, and each stores the size elsewhere.
fn webp_dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((little_endian(bytes, 24, 3)? + 1, little_endian(bytes, 27, 3)? + 1)),
        b"VP8L" if bytes.get(20) == Some(&0x2f) => {
            let sizes = little_endian(bytes, 21, 4)?;
            Some(((sizes & 0x3fff) + 1, ((sizes >> 14) & 0x3fff) + 1))
        }
        b"VP8 " if bytes.get(23..26)? == [0x9d, 0x01, 0x2a] => {
            Some((little_endian(bytes, 26, 2)? & 0x3fff, little_endian(bytes, 28, 2)? & 0x3fff))
        }
        _ => None,
    }
}

/// Walks the segments up to the frame header, which precedes the image itself.
fn jpeg_dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    const START_OF_SCAN: u8 = 0xda;
    const END_OF_IMAGE: u8 = 0xd9;
    let mut at = 2;
    loop {
        match (*bytes.get(at)?, *bytes.get(at + 1)?) {
            // Any number of these may fill the space before a marker.
            (0xff, 0xff) => at += 1,
            (0xff, 0x01 | 0xd0..=0xd8) => at += 2,
            (0xff, START_OF_SCAN | END_OF_IMAGE) => return None,
            // In between are the tables, which are not frame headers.
            (0xff, 0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf) => {
                return Some((big_endian(bytes, at + 7, 2)?, big_endian(bytes, at + 5, 2)?));
            }
            (0xff, _) => at += 2 + usize::try_from(big_endian(bytes, at + 2, 2)?).ok()?.max(2),
            _ => return None,
        }
    }
}

fn big_endian(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    Some(bytes.get(at..at + length)?.iter().fold(0, |number, &byte| number << 8 | u32::from(byte)))
}

fn little_endian(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    Some(bytes.get(at..at + length)?.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dimensions(bytes: &[&[u8]]) -> Option<(u32, u32)> {
        let bytes = bytes.concat();
        Media::of(&bytes).unwrap().dimensions(&bytes)
    }

    #[test]
    fn each_kind_of_webp_stores_its_size_elsewhere() {
        let lossy = dimensions(&[b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0abc\x9d\x01\x2a\x80\x02\xe0\x41"]);
        assert_eq!(lossy, Some((640, 480)), "the two highest bits are a scale");
        let lossless = (639_u32 + (479 << 14)).to_le_bytes();
        assert_eq!(dimensions(&[b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f", &lossless]), Some((640, 480)));
        let extended = dimensions(&[b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\x10\0\0\0\x7f\x02\0\xdf\x01\0"]);
        assert_eq!(extended, Some((640, 480)));
        assert_eq!(dimensions(&[b"RIFF\0\0\0\0WEBPICCP\0\0\0\0"]), None);
    }

    #[test]
    fn the_size_of_a_jpeg_is_in_its_frame_header_after_other_segments() {
        let frame = b"\xff\xc2\0\x11\x08\x01\xe0\x02\x80\x03";
        let segments: &[u8] = b"\xff\xe0\0\x10JFIF\0............\xff\xd9";
        assert_eq!(dimensions(&[b"\xff\xd8", &segments[..18], b"\xff\xff\xff\xc4\0\x04..", frame]), Some((640, 480)));
        assert_eq!(dimensions(&[b"\xff\xd8\xff\xda\0\x02", frame]), None, "the image itself has begun");
        assert_eq!(dimensions(&[b"\xff\xd8\xff\xe0\0\0"]), None, "a segment without a length does not hold it up");
        assert_eq!(dimensions(&[b"\xff\xd8", &frame[..7]]), None, "cut off");
    }

    #[test]
    fn an_image_without_a_size_has_none() {
        assert_eq!(dimensions(&[b"GIF89a\0\0\x10\0"]), None);
        assert_eq!(dimensions(&[b"GIF89a\x40\x01\x10\0"]), Some((320, 16)));
        assert_eq!(dimensions(&[b"\x89PNG\r\n\x1a\n\0\0\0\rIDAT\0\0\0\x01\0\0\0\x01"]), None);
    }
}
