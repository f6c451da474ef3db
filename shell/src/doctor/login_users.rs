//! Users of this machine, out of `/etc/passwd`: whose processes the kernel takes for the workspace's.

/// Names of the users with this uid, in the file's order. A line that is none is passed over.
pub fn with_uid(passwd: &str, uid: u32) -> Vec<String> {
    passwd.lines().filter_map(user).filter(|(_, of)| *of == uid).map(|(name, _)| name.to_owned()).collect()
}

fn user(line: &str) -> Option<(&str, u32)> {
    let mut fields = line.split(':');
    let name = fields.next().filter(|name| !name.is_empty() && !name.starts_with('#'))?;
    let uid = fields.nth(1)?.parse().ok()?;
    Some((name, uid))
}

/// Name and members of a group, out of `/etc/group`. Users whose own group it is are not among its members there.
pub fn group(groups: &str, gid: u32) -> Option<(String, Vec<String>)> {
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        let of: u32 = fields.nth(1)?.parse().ok()?;
        let members = fields.next().unwrap_or_default();
        let members = members.split(',').filter(|member| !member.is_empty()).map(String::from).collect();
        (of == gid).then(|| (name.to_owned(), members))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\n# ada:x:1000:1000::/:/bin/sh\nnobody\n\
        ada:x:1000:1000:Ada:/home/ada:/bin/bash\nbroken:x:ten:1::/:/bin/sh\nsvc:x:1000:7::/:/usr/sbin/nologin\n+::::::\n";

    #[test]
    fn each_user_of_the_uid_is_named() {
        assert_eq!(with_uid(PASSWD, 1000), ["ada", "svc"]);
        assert_eq!(with_uid(PASSWD, 0), ["root"]);
        assert_eq!(with_uid(PASSWD, 1001), Vec::<String>::new());
    }

    #[test]
    fn a_group_is_found_by_its_number() {
        let groups = "root:x:0:\nbroken\ndocker:x:112:ada,bo\n";
        assert_eq!(group(groups, 112), Some(("docker".into(), vec!["ada".into(), "bo".into()])));
        assert_eq!(group(groups, 0), Some(("root".into(), vec![])));
        assert_eq!(group(groups, 7), None);
    }
}
