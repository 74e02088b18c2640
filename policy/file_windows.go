package policy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

// File returns where the document of this machine is: agent\policy.yaml in the folder of programs. No variable of the environment says it.
func File() string {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramFiles, 0)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "agent", "policy.yaml")
}

// open opens a file that only administrators can change. Neither it nor its folder may be a link.
func open(name string) (*os.File, error) {
	if _, err := os.Lstat(name); errors.Is(err, os.ErrNotExist) {
		return nil, missing(name, filepath.Dir(name))
	}
	folder, err := opened(filepath.Dir(name), windows.FILE_FLAG_BACKUP_SEMANTICS)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	f, err := opened(name, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// opened opens a file or a folder that is no link, and checks who may change it. While it is open nobody renames or removes it.
func opened(name string, flags uint32) (*os.File, error) {
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	handle, err := windows.CreateFile(text, windows.GENERIC_READ, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_OPEN_REPARSE_POINT|flags, 0)
	if err != nil {
		return nil, fmt.Errorf("%q cannot be opened: %w", name, err)
	}
	f := os.NewFile(uintptr(handle), name)
	var info windows.ByHandleFileInformation
	if err = windows.GetFileInformationByHandle(handle, &info); err == nil && info.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 {
		err = errors.New("it is a link")
	}
	if err == nil {
		err = kept(handle)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%q cannot be used: %w", name, err)
	}
	return f, nil
}

// kept returns an error if others than administrators may change what is open.
func kept(handle windows.Handle) error {
	sd, err := windows.GetSecurityInfo(handle, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return err
	}
	if !administers(owner) {
		return fmt.Errorf("it belongs to %s, who is no administrator", owner)
	}
	list, _, err := sd.DACL()
	if err != nil {
		return err
	}
	if list == nil {
		return errors.New("everybody may change it")
	}
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &entry); err != nil {
			return err
		}
		if entry.Header.AceType == windows.ACCESS_DENIED_ACE_TYPE || entry.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 || entry.Mask&changes == 0 {
			continue
		}
		if who := (*windows.SID)(unsafe.Pointer(&entry.SidStart)); entry.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || !administers(who) {
			return errors.New("others than administrators may change it")
		}
	}
	return nil
}

// changes are the rights to change a file or a folder, what is in it, and who may.
const changes = windows.GENERIC_ALL | windows.GENERIC_WRITE | windows.WRITE_DAC | windows.WRITE_OWNER | windows.DELETE |
	windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | deleteChild

const deleteChild = 0x40 // FILE_DELETE_CHILD

// installer is the account by which Windows installs programs.
const installer = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

func administers(who *windows.SID) bool {
	return who.IsWellKnown(windows.WinBuiltinAdministratorsSid) || who.IsWellKnown(windows.WinLocalSystemSid) || who.String() == installer
}
