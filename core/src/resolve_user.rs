//! An image's user looked up in the image's own passwd and group files (design 7).

use alloc::string::String;

/// A resolved user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageUser {
    /// uid.
    pub uid: u32,
    /// gid: the one written behind the colon, else the passwd entry's, else the uid's own number.
    pub gid: u32,
    /// Home of the passwd entry.
    pub home: Option<String>,
}

/// Looks `USER[:GROUP]` up. Names are found in the texts of `/etc/passwd` and `/etc/group`; numbers stand for
/// themselves. `None` when a name is unknown or nothing is written: that is root, which nobody wants resolved.
pub fn resolve_user(written: &str, passwd: &str, group: &str) -> Option<ImageUser> {
    let (user, group_written) = match written.split_once(':') {
        Some((user, group)) => (user, Some(group)),
        None => (written, None),
    };
    if user.is_empty() {
        return None;
    }
    let entry = passwd.lines().map(|line| line.split(':')).find_map(|mut fields| {
        let name = fields.next()?;
        let uid = fields.nth(1)?;
        let gid = fields.next()?;
        let home = fields.nth(1).unwrap_or("");
        (name == user || (user.bytes().all(|b| b.is_ascii_digit()) && uid == user))
            .then_some((uid, gid, home))
    });
    let uid = match entry {
        Some((uid, ..)) => uid.parse().ok()?,
        None => number(user)?,
    };
    let gid = match (group_written, entry) {
        (Some(written), _) => number(written).or_else(|| group_id(written, group))?,
        (None, Some((_, gid, _))) => gid.parse().ok()?,
        (None, None) => uid,
    };
    let home = entry.map(|(.., home)| home).filter(|home| home.starts_with('/')).map(String::from);
    Some(ImageUser { uid, gid, home })
}

fn number(text: &str) -> Option<u32> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

fn group_id(name: &str, group: &str) -> Option<u32> {
    group.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then(|| fields.nth(1)?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1001:Node:/home/node:/bin/sh\nbroken\n";
    const GROUP: &str = "root:x:0:\nstaff:x:50:node\n";

    fn found(written: &str) -> Option<(u32, u32, Option<String>)> {
        resolve_user(written, PASSWD, GROUP).map(|user| (user.uid, user.gid, user.home))
    }

    #[test]
    fn names_and_numbers_are_looked_up() {
        let home = Some(String::from("/home/node"));
        assert_eq!(found("node"), Some((1000, 1001, home.clone())));
        assert_eq!(found("1000"), Some((1000, 1001, home.clone())));
        assert_eq!(found("node:staff"), Some((1000, 50, home.clone())));
        assert_eq!(found("node:7"), Some((1000, 7, home)));
        assert_eq!(found("4242"), Some((4242, 4242, None)));
    }

    #[test]
    fn what_is_unknown_is_not_guessed() {
        for written in ["", ":", "nobody", "node:nogroup", "-1", "99999999999", "node:"] {
            assert_eq!(found(written), None, "{written}");
        }
    }
}
